"""The twelve colours of the sequences, the same in tab, table, map and timeline.

Chosen by search: under normal sight and the three kinds of colour blindness any two are about as far apart as
the closest of the seven Okabe-Ito colours, and each stands out (2:1) on the light and on the dark page. Those
close to the accent and to the colour of errors come last. A colour always comes with its `seq_id` or tab
title.
"""

from PySide6.QtGui import QColor

SEQUENCE_COLOURS = (
    "#006db6",
    "#ff8600",
    "#b69eff",
    "#9e3d86",
    "#ce9e79",
    "#5586ff",
    "#aa6d79",
    "#db6118",
    "#7986b6",
    "#6db6c2",
    "#aa2418",
    "#006155",
)


def colour_of(seq_id: int) -> QColor:
    return QColor(SEQUENCE_COLOURS[seq_id % len(SEQUENCE_COLOURS)])
