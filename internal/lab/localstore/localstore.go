// Package keeper finds the store that reservations are kept in: a cluster of the
// user's, or one of firstlight's own on this machine, which is started on need and
// stays up.
package localstore

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/upstream"
)

// Name is the own store's, among the labs.
const Name = "reservations"

// Dir is where the own store lives: below the labs' home, and not among them. What it
// keeps is in component.KeptDir there: a copy of it, made while the store is
// down, is a backup.
func Dir() (string, error) {
	home, err := lab.Home()
	if err != nil {
		return "", err //nolint:wrapcheck // says what to set
	}
	return filepath.Join(home, Name), nil
}

// Options say how an own store is started.
type Options struct {
	// Command runs Supervise in a process of its own; the flags --name and --dir follow it.
	Command []string
	// Events takes what a person who waits wants to see; it may be nil.
	Events func(lab.Event)
}

// Own reaches the own store, and starts it where it is not up.
func Connect(ctx context.Context, opts Options) (*rest.Config, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	tell := opts.Events
	h, err := lab.AttachDir(ctx, Name, dir)
	if err == nil {
		tell = nil // what happened when it started is no news
	} else {
		h, _, err = lab.Spawn(ctx, lab.SpawnOptions{Name: Name, Dir: dir, Command: opts.Command})
		if errors.Is(err, lab.ErrRunning) { // another process was faster
			h, err = lab.AttachDir(ctx, Name, dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start the store of reservations: %w", err)
	}
	if err := h.WaitReady(ctx, tell); err != nil {
		return nil, fmt.Errorf("start the store of reservations: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", Kubeconfig(dir))
	if err != nil {
		return nil, fmt.Errorf("reach the store of reservations: %w", err)
	}
	if err := checkCertificate(config.CertData, config.CertFile, time.Now()); err != nil {
		return nil, fmt.Errorf("reach the store of reservations: %w", err)
	}
	if err := store.Install(ctx, config); err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	return asUser(config), nil
}

// asUser is the configuration of this machine's user: the history names them, and not the
// store's administrator, whose certificate they have.
func asUser(config *rest.Config) *rest.Config {
	name := fmt.Sprintf("uid:%d", os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	c := rest.CopyConfig(config)
	c.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:masters"}}
	return c
}

// inForce refuses a client certificate that has expired. A store's certificates are made at
// its start and hold for a year: one that has run for longer has to be started again.
func checkCertificate(data []byte, file string, now time.Time) error {
	if len(data) == 0 {
		var err error
		if data, err = os.ReadFile(file); err != nil {
			return fmt.Errorf("read its client certificate: %w", err)
		}
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return errors.New("read its client certificate: not PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("read its client certificate: %w", err)
	}
	if !now.Before(cert.NotAfter) {
		return fmt.Errorf("its certificates expired at %s, a year after its start: end it with firstlight reservation store down; "+
			"the next command starts it with new ones, and what it keeps stays", cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// Kubeconfig is that of the own store.
func Kubeconfig(dir string) string { return component.Config{Dir: dir}.AdminKubeconfig() }

// Supervise runs the own store until it is told to stop.
func Supervise(ctx context.Context, dir string, programs func(context.Context, []string, func(lab.Event)) (upstream.Programs, error)) error {
	var running atomic.Pointer[lab.Lab]
	opts := lab.SuperviseOptions{Options: lab.Options{Name: Name, Dir: dir, Purpose: component.Store}}
	opts.World = func(l *lab.Lab) http.Handler {
		running.Store(l)
		return http.NotFoundHandler() // a store has no world
	}
	opts.Programs = func(ctx context.Context, names []string) (upstream.Programs, error) {
		return programs(ctx, names, func(e lab.Event) {
			if l := running.Load(); l != nil {
				l.Tell(e)
			}
		})
	}
	if err := lab.Supervise(ctx, opts); err != nil {
		return fmt.Errorf("run the store of reservations: %w", err)
	}
	return nil
}

// Down stops the own store. What it keeps stays.
func Down(ctx context.Context) error {
	dir, err := Dir()
	if err != nil {
		return err
	}
	return lab.DownDir(ctx, Name, dir) //nolint:wrapcheck // says which itself
}
