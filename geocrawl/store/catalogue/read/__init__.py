"""Read the catalogue for people and programs: functions of a connection, which create and change nothing."""
