"""Pages for workers: sign-in, onboarding, labelling and the completion code."""
