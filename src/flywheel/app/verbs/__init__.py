"""The verbs of the Api in process, a module and a class for each group; `app.inside.App` is all of them."""
