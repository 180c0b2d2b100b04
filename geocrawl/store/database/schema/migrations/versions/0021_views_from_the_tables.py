"""Make the views anew: their statements are now written with the tables, and compiled for each engine."""

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: the last revision that changes views makes them all anew."""
