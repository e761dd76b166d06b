// Package bytelevel converts between bytes and the 256 printable characters
// that stand for them in the vocabularies of byte-level tokenizers. The
// printable bytes of Latin-1 stand for themselves; the others, in ascending
// order, are the characters from U+0100 on. The table is GPT-2's.
//
//	bytelevel.Encode(" é") // "ĠÃ©"
//	bytelevel.Decode("ĠÃ©") // " é", true
package bytelevel
