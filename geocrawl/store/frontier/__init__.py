"""The frontier: known addresses in their order, host leases, settlements, caps and budgets."""
