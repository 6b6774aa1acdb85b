package labtest

import (
	"context"
	"fmt"
)

// Kill kills a program of the lab, which is started again, and says what it killed.
func (l *Lab) Kill(ctx context.Context, program string) (string, error) {
	id, err := l.handle.Kill(ctx, program)
	if err != nil {
		return "", err //nolint:wrapcheck // says of what
	}
	return fmt.Sprintf("program %s, process %d", program, id.PID), nil
}
