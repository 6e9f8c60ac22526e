"""How sentences state things: their forms, each in its own module. Pure."""
