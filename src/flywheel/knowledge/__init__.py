"""Knowledge: claims that are weighed against each other, and living pages that say what holds."""
