"""What ui and inspector share: colours, icons, fonts, small painted parts."""
