// Package top shows GPUs and their processes in a terminal, as top shows those of a CPU.
//
// Read reads what View draws; Run does both until the user ends it. It is for the command only.
package top
