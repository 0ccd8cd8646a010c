"""A web server with the files of a folder."""

from served import served as served
