"""Every page of the service in a browser: a service with projects in all states, its pages, pictures."""
