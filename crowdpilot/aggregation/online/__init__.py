"""Online aggregation: votes that arrive one by one, by incremental EM."""
