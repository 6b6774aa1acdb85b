package hookprovider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// Options of a Provider.
type Options struct {
	// Dir has the records and tokens; empty: hooklabs in the labs' home.
	Dir string
	// Command and Env start a lab; see lab.SpawnOptions.
	Command, Env []string
	// Credential is the command that prints the ExecCredential of the deployment in its last
	// argument.
	Credential []string
	// Now defaults to the system clock.
	Now func() time.Time
	// Events, if set, receives the events of a starting lab.
	Events func(lab.Event)
}

// Provider runs deployments as labs.
type Provider struct{ opts Options }

// New returns a provider.
func New(opts Options) (*Provider, error) {
	if opts.Dir == "" {
		home, err := lab.Home()
		if err != nil {
			return nil, err
		}
		opts.Dir = filepath.Join(home, "hooklabs")
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Provider{opts: opts}, nil
}

// FullError means that the reservation has no capacity left.
type FullError struct{ Reservation, Stands string }

func (e *FullError) Error() string {
	return fmt.Sprintf("reservation %s has no capacity left: deployment %s exists", e.Reservation, e.Stands)
}

// Provision starts a lab, or returns the one with the same token.
func (p *Provider) Provision(ctx context.Context, r hook.Request) (d hook.Deployment, err error) {
	hardware, err := hardwareOf(*r.Reservation)
	if err != nil {
		return hook.Deployment{}, err
	}
	unlock, err := p.lock(ctx, r.Reservation.Name)
	if err != nil {
		return hook.Deployment{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	rec, err := p.admit(r)
	if err != nil {
		return hook.Deployment{}, err
	}
	if defect, err := p.defect(ctx, r); defect != nil || err != nil {
		return hook.Deployment{}, injectedError(defect, err)
	}
	handle, err := p.start(ctx, r.Deployment, hardware)
	if err != nil {
		return hook.Deployment{}, fmt.Errorf("%w: %w", hook.ErrTemporary, err)
	}
	status, err := handle.Status(ctx)
	if err != nil {
		return hook.Deployment{}, fmt.Errorf("%w: %w", hook.ErrTemporary, err)
	}
	if rec.Access, err = p.access(status.Info); err != nil {
		return hook.Deployment{}, err
	}
	return rec.Deployment, write(p.recordPath(rec.Name), rec)
}

// admit records the token and the deployment, or refuses it.
func (p *Provider) admit(r hook.Request) (*record, error) {
	if err := p.raise(r.Reservation.Name, r.Lease.Token); err != nil {
		return nil, err
	}
	all, err := p.records()
	if err != nil {
		return nil, err
	}
	for _, rec := range all {
		switch {
		case rec.Name != r.Deployment && rec.Reservation == r.Reservation.Name:
			return nil, &FullError{Reservation: r.Reservation.Name, Stands: rec.Name}
		case rec.Name != r.Deployment:
			continue
		case rec.Token != r.Lease.Token || rec.Owner != r.Owner || rec.Reservation != r.Reservation.Name || rec.Intent != r.Intent || rec.Removing:
			return nil, fmt.Errorf("deployment %s exists, or is being deleted, with token %d of reservation %s, %s, owner %s: tear it down first",
				rec.Name, rec.Token, rec.Reservation, rec.Intent, rec.Owner)
		default:
			return rec, nil
		}
	}
	rec := &record{Cloud: string(r.Cloud), Deployment: hook.Deployment{
		Name: r.Deployment, Owner: r.Owner, Reservation: r.Reservation.Name, Intent: r.Intent,
		Token: r.Lease.Token, Created: p.opts.Now().UTC().Truncate(time.Second),
	}}
	return rec, write(p.recordPath(rec.Name), rec)
}

// start starts a lab unless it is running, and waits until it is ready.
func (p *Provider) start(ctx context.Context, name string, h hardware) (*lab.Handle, error) {
	handle, err := lab.Attach(ctx, name)
	if errors.Is(err, lab.ErrNotRunning) {
		handle, _, err = lab.Spawn(ctx, lab.SpawnOptions{Name: name, Command: p.opts.Command, Env: p.opts.Env, Args: h.args()})
		if errors.Is(err, lab.ErrRunning) {
			handle, err = lab.Attach(ctx, name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start a lab for %s: %w", name, err)
	}
	if err := handle.WaitReady(ctx, p.opts.Events); err != nil {
		return nil, fmt.Errorf("start a lab for %s: %w", name, err)
	}
	return handle, nil
}

// Teardown stops a lab and deletes its directory. It is idempotent.
func (p *Provider) Teardown(ctx context.Context, r hook.Request) (err error) {
	unlock, err := p.lock(ctx, r.Reservation.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := p.raise(r.Reservation.Name, r.Lease.Token); err != nil {
		return err
	}
	rec, err := p.record(r.Deployment)
	if rec == nil || err != nil {
		return err
	}
	if defect, err := p.defect(ctx, r); defect != nil || err != nil {
		return injectedError(defect, err)
	}
	if rec.Reservation != r.Reservation.Name || rec.Owner != r.Owner {
		return fmt.Errorf("deployment %s belongs to reservation %s and owner %s, not to %s and %s", rec.Name, rec.Reservation, rec.Owner, r.Reservation.Name, r.Owner)
	}
	rec.Removing, rec.Access = true, nil
	if err := write(p.recordPath(rec.Name), rec); err != nil {
		return err
	}
	if err := end(ctx, rec.Name); err != nil {
		return fmt.Errorf("%w: %w", hook.ErrTemporary, err)
	}
	return remove(p.recordPath(rec.Name))
}

// end stops a lab with all its processes and deletes its directory.
func end(ctx context.Context, name string) error {
	dir, err := lab.DirOf(name)
	if err != nil {
		return err
	}
	if err := down(ctx, name, dir); err != nil {
		return err
	}
	if err := killUnregistered(name, dir); err != nil {
		return err
	}
	if err := down(ctx, name, dir); err != nil { // the children of that process
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("delete the directory of lab %s: %w", name, err)
	}
	return nil
}

func down(ctx context.Context, name, dir string) error {
	err := lab.DownDir(ctx, name, dir)
	if err != nil && !errors.Is(err, lab.ErrNotRunning) {
		return err
	}
	return nil
}

// Discover lists the recorded deployments.
func (p *Provider) Discover(_ context.Context, r hook.Request) ([]hook.Deployment, error) {
	all, err := p.records()
	if err != nil {
		return nil, err
	}
	out := []hook.Deployment{}
	for _, rec := range all {
		if rec.Cloud != string(r.Cloud) || r.Reservation != nil && rec.Reservation != r.Reservation.Name {
			continue
		}
		out = append(out, rec.Deployment)
	}
	return out, nil
}
