// Package localstore runs the local reservation store: an etcd and a kube-apiserver on this
// machine, which start on demand and keep running.
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
	"github.com/firstlight/firstlight/internal/lab/pki"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/upstream"
)

// Name of the local store among the labs.
const Name = "reservations"

// Dir returns the directory of the local store, in the labs' home. Its data is in
// component.KeptDir; a copy made while the store is down is a backup.
func Dir() (string, error) {
	home, err := lab.Home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, Name), nil
}

// Options of Connect.
type Options struct {
	// Command runs Supervise in a process of its own; the flags --name and --dir are appended.
	Command []string
	// Events, if set, receives the events of a starting store.
	Events func(lab.Event)
}

// Connect connects to the local store, and starts it if it is not running.
func Connect(ctx context.Context, opts Options) (*rest.Config, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	tell := opts.Events
	h, err := lab.AttachDir(ctx, Name, dir)
	if err == nil {
		tell = nil // the events of an earlier start
	} else {
		h, _, err = lab.Spawn(ctx, lab.SpawnOptions{Name: Name, Dir: dir, Command: opts.Command})
		if errors.Is(err, lab.ErrRunning) { // another process started it
			h, err = lab.AttachDir(ctx, Name, dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start the local reservation store: %w", err)
	}
	if err := h.WaitReady(ctx, tell); err != nil {
		return nil, fmt.Errorf("start the local reservation store: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", Kubeconfig(dir))
	if err != nil {
		return nil, fmt.Errorf("connect to the local reservation store: %w", err)
	}
	if err := checkCertificate(component.Config{Dir: dir}.PKI().Cert(pki.APIServer), time.Now()); err != nil {
		return nil, fmt.Errorf("connect to the local reservation store: %w", err)
	}
	if err := store.Install(ctx, config); err != nil {
		return nil, err
	}
	return AsUser(config), nil
}

// AsUser impersonates this machine's user, so that the history names them and not the store's
// administrator, whose token they use.
func AsUser(config *rest.Config) *rest.Config {
	name := fmt.Sprintf("uid:%d", os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	c := rest.CopyConfig(config)
	c.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:masters"}}
	return c
}

// checkCertificate refuses an expired certificate.
func checkCertificate(file string, now time.Time) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read its certificate: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return errors.New("read its certificate: not PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("read its certificate: %w", err)
	}
	if !now.Before(cert.NotAfter) {
		return fmt.Errorf("its certificates expired at %s: stop it with firstlight reservation store down; "+
			"the next command starts it with new ones and keeps its data", cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// Kubeconfig returns the path of the kubeconfig of the local store.
func Kubeconfig(dir string) string { return component.Config{Dir: dir}.AdminKubeconfig() }

// Supervise runs the local store until it is stopped.
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
		return fmt.Errorf("run the local reservation store: %w", err)
	}
	return nil
}

// Down stops the local store and keeps its data.
func Down(ctx context.Context) error {
	dir, err := Dir()
	if err != nil {
		return err
	}
	return lab.DownDir(ctx, Name, dir)
}
