#include "textflag.h"

// func pages(dst, src *byte, n int)
//
// Four pages are read at once because a processor fetches ahead within a page only. The
// stores go past the cache (MOVNTO); the fence makes them visible before what follows.
TEXT ·pages(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), BX

group:
	CMPQ BX, $16384
	JB   done
	MOVQ $64, CX // lines of a page

line:
	MOVOU  0(SI), X0
	MOVOU  16(SI), X1
	MOVOU  32(SI), X2
	MOVOU  48(SI), X3
	MOVOU  4096(SI), X4
	MOVOU  4112(SI), X5
	MOVOU  4128(SI), X6
	MOVOU  4144(SI), X7
	MOVOU  8192(SI), X8
	MOVOU  8208(SI), X9
	MOVOU  8224(SI), X10
	MOVOU  8240(SI), X11
	MOVOU  12288(SI), X12
	MOVOU  12304(SI), X13
	MOVOU  12320(SI), X14
	MOVNTO X0, 0(DI)
	MOVNTO X1, 16(DI)
	MOVNTO X2, 32(DI)
	MOVNTO X3, 48(DI)
	MOVOU  12336(SI), X0
	MOVNTO X4, 4096(DI)
	MOVNTO X5, 4112(DI)
	MOVNTO X6, 4128(DI)
	MOVNTO X7, 4144(DI)
	MOVNTO X8, 8192(DI)
	MOVNTO X9, 8208(DI)
	MOVNTO X10, 8224(DI)
	MOVNTO X11, 8240(DI)
	MOVNTO X12, 12288(DI)
	MOVNTO X13, 12304(DI)
	MOVNTO X14, 12320(DI)
	MOVNTO X0, 12336(DI)
	ADDQ   $64, SI
	ADDQ   $64, DI
	DECQ   CX
	JNZ    line
	ADDQ   $12288, SI
	ADDQ   $12288, DI
	SUBQ   $16384, BX
	JMP    group

done:
	SFENCE
	RET
