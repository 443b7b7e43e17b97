"""Plain-Python engines written from the rule text alone, against which the real ones are tested."""
