# Reads what tests print with -test.v, and fails where a test of a GPU was skipped that this machine could have run: for
# any reason but the lack of a second GPU.
/^=== (RUN|NAME|CONT)/ { test = $3 }
/_test\.go:[0-9]+: / { reason[test] = $0 }
/--- SKIP: TestGPU/ {
	if (reason[$3] !~ /_test\.go:[0-9]+: no two GPUs/) {
		print "skipped: " $3 reason[$3]
		failed = 1
	}
}
END { exit failed }
