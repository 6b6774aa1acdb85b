package inference

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Log writes lines in vLLM's format. Write errors are ignored.
type Log struct{ Out io.Writer }

// Plain writes a line as it is.
func (l Log) Plain(line string) { _, _ = fmt.Fprintln(l.Out, line) }

// Info writes a line of vLLM's logger, with the place in its source.
func (l Log) Info(where, format string, args ...any) {
	l.Plain(fmt.Sprintf("INFO %s [%s] %s", time.Now().UTC().Format("01-02 15:04:05"), where, fmt.Sprintf(format, args...)))
}

// Failure logs the engine's traceback and the server's.
func (l Log) Failure(cause string) {
	stamp := time.Now().UTC().Format("01-02 15:04:05")
	for _, line := range []string{"EngineCore failed to start.", "Traceback (most recent call last):", cause} {
		l.Plain(fmt.Sprintf("(EngineCore_DP0 pid=271) ERROR %s [core.py:708] %s", stamp, line))
	}
	l.Plain(strings.TrimSpace(cause))
	l.Plain("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}")
}
