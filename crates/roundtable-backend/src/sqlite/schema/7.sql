-- Nobody read it: whose turn it is stands in the log.
DROP TABLE turn;
