#include "go_asm.h"
#include "textflag.h"

// The stack below the saved pointer holds the arguments after the sixth.
#define FRAME_AT 152

GLOBL ·enter(SB), NOPTR|RODATA, $8
DATA ·enter(SB)/8, $enter(SB)

// enter makes the calls of a Frame. runtime.cgocall runs it on the thread's own stack, by C's
// convention: DI points to the frame, and BX, BP, R12 to R15 stay as they are. 160 bytes keep the
// stack aligned to 16 at the calls.
TEXT enter(SB), NOSPLIT, $160
	MOVQ DI, FRAME_AT(SP)
	MOVQ (Frame_Before+Before_Function)(DI), R11
	TESTQ R11, R11
	JEQ  arguments
	MOVQ (Frame_Before+Before_Argument)(DI), DI
	XORL AX, AX
	CALL R11
	MOVLQZX AX, AX
	TESTL AX, AX
	JNE  done

arguments:
	MOVQ FRAME_AT(SP), R11
	CMPQ Frame_N(R11), $6
	JLE  registers
	MOVQ (Frame_Args+6*8)(R11), AX
	MOVQ AX, 0(SP)
	MOVQ (Frame_Args+7*8)(R11), AX
	MOVQ AX, 8(SP)
	MOVQ (Frame_Args+8*8)(R11), AX
	MOVQ AX, 16(SP)
	MOVQ (Frame_Args+9*8)(R11), AX
	MOVQ AX, 24(SP)
	MOVQ (Frame_Args+10*8)(R11), AX
	MOVQ AX, 32(SP)
	CMPQ Frame_N(R11), $11
	JLE  registers
	MOVQ (Frame_Args+11*8)(R11), AX
	MOVQ AX, 40(SP)
	MOVQ (Frame_Args+12*8)(R11), AX
	MOVQ AX, 48(SP)
	MOVQ (Frame_Args+13*8)(R11), AX
	MOVQ AX, 56(SP)
	MOVQ (Frame_Args+14*8)(R11), AX
	MOVQ AX, 64(SP)
	MOVQ (Frame_Args+15*8)(R11), AX
	MOVQ AX, 72(SP)
	MOVQ (Frame_Args+16*8)(R11), AX
	MOVQ AX, 80(SP)
	MOVQ (Frame_Args+17*8)(R11), AX
	MOVQ AX, 88(SP)
	MOVQ (Frame_Args+18*8)(R11), AX
	MOVQ AX, 96(SP)
	MOVQ (Frame_Args+19*8)(R11), AX
	MOVQ AX, 104(SP)
	MOVQ (Frame_Args+20*8)(R11), AX
	MOVQ AX, 112(SP)
	MOVQ (Frame_Args+21*8)(R11), AX
	MOVQ AX, 120(SP)
	MOVQ (Frame_Args+22*8)(R11), AX
	MOVQ AX, 128(SP)
	MOVQ (Frame_Args+23*8)(R11), AX
	MOVQ AX, 136(SP)

registers:
	MOVQ Frame_Function(R11), R10
	MOVQ (Frame_Args+0*8)(R11), DI
	MOVQ (Frame_Args+1*8)(R11), SI
	MOVQ (Frame_Args+2*8)(R11), DX
	MOVQ (Frame_Args+3*8)(R11), CX
	MOVQ (Frame_Args+4*8)(R11), R8
	MOVQ (Frame_Args+5*8)(R11), R9
	MOVQ (Frame_Floats+0*8)(R11), X0
	MOVQ (Frame_Floats+1*8)(R11), X1
	MOVL $2, AX // how many floating-point registers a variadic function may look at
	CALL R10

done:
	MOVQ FRAME_AT(SP), DI
	MOVQ AX, Frame_Result(DI)
	XORL AX, AX
	RET
