// Package events writes event files. They contain scalars, which the program TensorBoard shows as curves.
//
//	w, err := events.Create("logs", time.Now(), 0)
//	...
//	err = w.Add(time.Now(), 1, events.Scalar{Tag: "train/loss", Value: 2.5})
//	...
//	err = w.Close()
//
// A file is a sequence of TFRecords, each of which contains an Event message of protocol buffers. A program that continues a training from
// an earlier step creates a new file in the same folder. TensorBoard then ignores the scalars of the earlier files from that step on.
package events
