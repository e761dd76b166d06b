#include "textflag.h"

// func take(s *Stack)
//
// The list ends at a zero, or at a pointer that does not lead to an outer frame, whose address is higher.
TEXT ·take(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ s+0(FP), DI
	MOVQ 0(SP), AX   // the return address of take
	MOVQ AX, 0(DI)
	MOVQ BP, SI
	MOVQ $1, CX

frame:
	TESTQ SI, SI
	JEQ   clear
	MOVQ  8(SI), AX
	MOVQ  AX, (DI)(CX*8)
	INCQ  CX
	CMPQ  CX, $24
	JEQ   done
	MOVQ  SI, DX
	MOVQ  0(SI), SI
	CMPQ  SI, DX
	JHI   frame

clear:
	XORQ AX, AX

rest:
	MOVQ AX, (DI)(CX*8)
	INCQ CX
	CMPQ CX, $24
	JNE  rest

done:
	RET
