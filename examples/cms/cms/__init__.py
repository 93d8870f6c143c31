"""A small real CMS: pages made of sections, posts, images and navigation, in one SQLite file."""
