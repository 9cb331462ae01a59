"""What the end-to-end tests and the demo share: processes, clusters, clients."""
