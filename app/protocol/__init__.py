"""The values that cross threads and processes: requests, reports, commands, the model. All are frozen."""
