#include "textflag.h"

// func take(s *Stack)
//
// The list ends at a zero, or at a pointer that does not lead to an outer frame, whose address is higher.
TEXT ·take(SB), NOSPLIT|NOFRAME, $0-8
	MOVD s+0(FP), R0
	MOVD R30, 0(R0)  // the return address of take
	MOVD R29, R1
	MOVD $1, R2

frame:
	CBZ  R1, clear
	MOVD 8(R1), R3
	MOVD R3, (R0)(R2<<3)
	ADD  $1, R2
	CMP  $24, R2
	BEQ  done
	MOVD R1, R4
	MOVD 0(R1), R1
	CMP  R4, R1
	BHI  frame

clear:
	MOVD ZR, (R0)(R2<<3)
	ADD  $1, R2
	CMP  $24, R2
	BNE  clear

done:
	RET
