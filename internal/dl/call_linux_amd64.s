#include "go_asm.h"
#include "textflag.h"

// The stack below the saved pointer holds the arguments behind the sixth.
#define FRAME_AT 152

GLOBL ·enter(SB), NOPTR|RODATA, $8
DATA ·enter(SB)/8, $enter(SB)

// enter makes the calls of a frame. runtime.cgocall runs it on the thread's own stack, by C's
// convention: DI points to the frame, and BX, BP, R12 to R15 stay as they are. 160 bytes keep the
// stack aligned to 16 at the calls.
TEXT enter(SB), NOSPLIT, $160
	MOVQ DI, FRAME_AT(SP)
	MOVQ (frame_before+Before_Function)(DI), R11
	TESTQ R11, R11
	JEQ  arguments
	MOVQ (frame_before+Before_Argument)(DI), DI
	XORL AX, AX
	CALL R11
	MOVLQZX AX, AX
	TESTL AX, AX
	JNE  done

arguments:
	MOVQ FRAME_AT(SP), R11
	CMPQ frame_n(R11), $6
	JLE  registers
	MOVQ (frame_args+6*8)(R11), AX
	MOVQ AX, 0(SP)
	MOVQ (frame_args+7*8)(R11), AX
	MOVQ AX, 8(SP)
	MOVQ (frame_args+8*8)(R11), AX
	MOVQ AX, 16(SP)
	MOVQ (frame_args+9*8)(R11), AX
	MOVQ AX, 24(SP)
	MOVQ (frame_args+10*8)(R11), AX
	MOVQ AX, 32(SP)
	CMPQ frame_n(R11), $11
	JLE  registers
	MOVQ (frame_args+11*8)(R11), AX
	MOVQ AX, 40(SP)
	MOVQ (frame_args+12*8)(R11), AX
	MOVQ AX, 48(SP)
	MOVQ (frame_args+13*8)(R11), AX
	MOVQ AX, 56(SP)
	MOVQ (frame_args+14*8)(R11), AX
	MOVQ AX, 64(SP)
	MOVQ (frame_args+15*8)(R11), AX
	MOVQ AX, 72(SP)
	MOVQ (frame_args+16*8)(R11), AX
	MOVQ AX, 80(SP)
	MOVQ (frame_args+17*8)(R11), AX
	MOVQ AX, 88(SP)
	MOVQ (frame_args+18*8)(R11), AX
	MOVQ AX, 96(SP)
	MOVQ (frame_args+19*8)(R11), AX
	MOVQ AX, 104(SP)
	MOVQ (frame_args+20*8)(R11), AX
	MOVQ AX, 112(SP)
	MOVQ (frame_args+21*8)(R11), AX
	MOVQ AX, 120(SP)
	MOVQ (frame_args+22*8)(R11), AX
	MOVQ AX, 128(SP)
	MOVQ (frame_args+23*8)(R11), AX
	MOVQ AX, 136(SP)

registers:
	MOVQ frame_function(R11), R10
	MOVQ (frame_args+0*8)(R11), DI
	MOVQ (frame_args+1*8)(R11), SI
	MOVQ (frame_args+2*8)(R11), DX
	MOVQ (frame_args+3*8)(R11), CX
	MOVQ (frame_args+4*8)(R11), R8
	MOVQ (frame_args+5*8)(R11), R9
	XORL AX, AX
	CALL R10

done:
	MOVQ FRAME_AT(SP), DI
	MOVQ AX, frame_result(DI)
	XORL AX, AX
	RET
