// Command firstlight takes a GPU cluster from powered-on racks to its first
// accepted workload, and proves it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/firstlight/firstlight/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
