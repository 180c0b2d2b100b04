"""Make the views anew: `v_services` has country, contact, availability, answer time, software and quality."""

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: the last revision that changes views makes them all anew."""
