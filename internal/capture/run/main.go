// Command run records the outputs of this machine's GPU tools: make capture.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/firstlight/firstlight/internal/capture"
)

// exitNoGPU: nothing could be recorded.
const exitNoGPU = 3

func main() { os.Exit(run()) }

func run() int {
	dir := flag.String("out", "bin/capture", "directory of the entry")
	origin := flag.String("origin", "make capture", "where the outputs are from, for the index")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // the root of the program
	defer stop()
	host, err := os.Hostname()
	if err != nil {
		fmt.Fprintf(os.Stderr, "read the host name: %v\n", err)
		return 1
	}
	seed := make([]byte, 32)
	if _, err := rand.Read(seed); err != nil {
		fmt.Fprintf(os.Stderr, "make a seed: %v\n", err)
		return 1
	}
	short, _, _ := strings.Cut(host, ".")
	files, err := capture.Run(ctx, capture.Options{
		Dir: *dir, Origin: *origin, Redact: capture.NewRedactor(seed, host, short),
		Log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) },
	})
	switch {
	case errors.Is(err, capture.ErrNoGPU):
		fmt.Fprintf(os.Stderr, "%v; nothing was recorded: run make capture on a GPU node\n", err)
		return exitNoGPU
	case err != nil:
		fmt.Fprintf(os.Stderr, "capture: %v\n", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "%d outputs in %s: read them before you publish them\n", files, *dir)
	return 0
}
