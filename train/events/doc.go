// Package events writes event files for TensorBoard, which shows the scalars in them as curves.
//
//	w, err := events.Create("logs", time.Now(), 0)
//	...
//	err = w.Add(time.Now(), 1, events.Scalar{Tag: "train/loss", Value: 2.5})
//	...
//	err = w.Close()
//
// A program that continues a training after step n creates a new file in the same folder. TensorBoard then ignores the steps after n in the
// earlier files.
package events
