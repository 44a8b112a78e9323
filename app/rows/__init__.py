"""One prompt over all rows of a table: reads tables, keeps a job, makes its requests. No Qt."""
