// Command firstlight takes a GPU cluster from powered-on racks to its first
// accepted workload, and proves it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/firstlight/firstlight/internal/cli"
)

func main() {
	klog.SetLogger(klog.Logger{}) // client-go also returns its messages as errors
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
