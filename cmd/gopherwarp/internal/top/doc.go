// Package top shows GPUs and their processes in a terminal, as top shows those of a CPU.
//
// Read reads the state of the GPUs, View draws it, and Run does both until the user quits.
package top
