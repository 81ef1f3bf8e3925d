-- Of equally specific globs the first in the file wins, so the order of a file's keys is part of what it says.
alter table rules alter column body type json;
