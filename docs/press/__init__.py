"""The press: it runs what the pages show, makes what can be made from the code, and checks the site."""
