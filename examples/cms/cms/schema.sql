-- The whole site. Rules that must hold whatever the code does are written here.

CREATE TABLE IF NOT EXISTS section_definitions (
  id          TEXT PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS definition_fields (
  definitionId TEXT NOT NULL REFERENCES section_definitions ON DELETE CASCADE,
  key          TEXT NOT NULL,
  type         TEXT NOT NULL CHECK (type IN ('text', 'richtext', 'image', 'link')),
  required     INTEGER NOT NULL CHECK (required IN (0, 1)),
  PRIMARY KEY (definitionId, key)
) STRICT;

CREATE TABLE IF NOT EXISTS images (
  id          TEXT PRIMARY KEY,
  filename    TEXT NOT NULL UNIQUE,
  url         TEXT NOT NULL GENERATED ALWAYS AS ('/uploads/' || filename) STORED,
  description TEXT NOT NULL,
  tags        TEXT NOT NULL CHECK (json_valid(tags)),
  width       INTEGER NOT NULL CHECK (width > 0),
  height      INTEGER NOT NULL CHECK (height > 0),
  source      TEXT NOT NULL,
  createdAt   TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS pages (
  id          TEXT PRIMARY KEY,
  title       TEXT NOT NULL CHECK (title <> ''),
  slug        TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  createdAt   TEXT NOT NULL,
  updatedAt   TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS page_sections (
  id           TEXT PRIMARY KEY,
  pageId       TEXT NOT NULL REFERENCES pages ON DELETE CASCADE,
  definitionId TEXT NOT NULL REFERENCES section_definitions,
  position     INTEGER NOT NULL CHECK (position >= 0),
  content      TEXT NOT NULL CHECK (json_valid(content)),
  createdAt    TEXT NOT NULL,
  updatedAt    TEXT NOT NULL
) STRICT;

-- Which image stands in which image field of a section.
CREATE TABLE IF NOT EXISTS section_images (
  sectionId TEXT NOT NULL REFERENCES page_sections ON DELETE CASCADE,
  field     TEXT NOT NULL,
  imageId   TEXT NOT NULL REFERENCES images ON DELETE CASCADE,
  PRIMARY KEY (sectionId, field)
) STRICT;

CREATE TABLE IF NOT EXISTS posts (
  id              TEXT PRIMARY KEY,
  title           TEXT NOT NULL CHECK (title <> ''),
  slug            TEXT NOT NULL UNIQUE,
  status          TEXT NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
  excerpt         TEXT NOT NULL,
  body            TEXT NOT NULL,
  tags            TEXT NOT NULL CHECK (json_valid(tags)),
  coverImageId    TEXT REFERENCES images ON DELETE SET NULL,
  coverAlt        TEXT NOT NULL DEFAULT '',
  featuredImageId TEXT REFERENCES images ON DELETE SET NULL,
  publishedAt     TEXT,
  createdAt       TEXT NOT NULL,
  updatedAt       TEXT NOT NULL,
  CHECK (status <> 'published' OR publishedAt IS NOT NULL)
) STRICT;

CREATE TABLE IF NOT EXISTS navigation (
  id       TEXT PRIMARY KEY,
  label    TEXT NOT NULL UNIQUE CHECK (label <> ''),
  href     TEXT NOT NULL,
  location TEXT NOT NULL CHECK (location IN ('header', 'footer', 'both')),
  visible  INTEGER NOT NULL DEFAULT 1 CHECK (visible IN (0, 1)),
  position INTEGER NOT NULL
) STRICT;

-- Questions put to the user that wait for a yes.
CREATE TABLE IF NOT EXISTS confirmations (
  action  TEXT PRIMARY KEY,
  message TEXT NOT NULL,
  askedAt TEXT NOT NULL
) STRICT;

-- The last number given to each kind of id. Numbers are never used twice.
CREATE TABLE IF NOT EXISTS counters (
  kind TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT;
