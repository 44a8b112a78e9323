"""One file for each client library. Each runs with the packages of the clients, not with those of Skein."""
