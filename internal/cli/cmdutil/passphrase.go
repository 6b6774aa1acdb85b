package cmdutil

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/firstlight/firstlight/internal/display"
)

// passphrasePrompt asks for the passphrase of a private key on the terminal in; nil if in is
// not a terminal. The passphrase is not echoed.
func passphrasePrompt(in *os.File, board *display.Board) func(ctx context.Context, file string) ([]byte, error) {
	fd := int(in.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	return func(ctx context.Context, file string) (passphrase []byte, err error) {
		state, err := term.GetState(fd)
		if err != nil {
			return nil, fmt.Errorf("read the state of the terminal: %w", err)
		}
		type answer struct {
			text []byte
			err  error
		}
		board.Suspend(func(out io.Writer) {
			fmt.Fprintf(out, "Passphrase of %s: ", display.Escape(file))
			read := make(chan answer, 1)
			go func() {
				text, err := term.ReadPassword(fd)
				read <- answer{text, err}
			}()
			select {
			case a := <-read:
				passphrase, err = a.text, a.err
			case <-ctx.Done():
				err = ctx.Err()
				_ = term.Restore(fd, state) // the read continues until the process ends
			}
			fmt.Fprintln(out)
		})
		return passphrase, err
	}
}
