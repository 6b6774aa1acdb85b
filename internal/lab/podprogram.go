package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// RunForPod runs the program of a component of the stack as a kubelet does: with the arguments of the pod
// that represents it. A running program is replaced. It returns when the program is ready; after an
// error a program that has been ready before is still restarted.
func (l *Lab) RunForPod(ctx context.Context, name string, args []string) error {
	l.mu.Lock()
	conf := l.conf
	l.mu.Unlock()
	all := component.All(conf)
	i := slices.IndexFunc(all, func(c component.Component) bool { return c.Name == name })
	if i < 0 {
		return fmt.Errorf("run %s: %w it", name, errAbsent)
	}
	c := all[i]
	c.Argv = slices.Concat(args, c.Argv) // of a repeated flag the last value counts
	spec, err := l.spec(ctx, c)
	if err != nil {
		return err
	}
	ctx, cancel := l.bounded(ctx, name)
	defer cancel()
	l.net.release(ctx, portsOf(conf.Ports, name)...)
	return l.sup.Replace(ctx, spec, changeGrace)
}

// EndWithPod ends the program of a component whose pods are gone.
func (l *Lab) EndWithPod(name string) { l.sup.Remove(name) }
