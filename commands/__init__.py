"""The commands, a module a subject: each reads options, calls one function, prints."""
