package device

// capture is a graph that takes a stream's work instead of its queue.
type capture struct{}
