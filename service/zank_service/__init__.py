"""The gRPC server of Zank: what clients ask, checked and answered with the kernel."""
