package controller

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// dirty is a rotation whose cleanings fail.
type dirty struct {
	RotationRunner
	cleanings int
}

func (d *dirty) Clean(_ context.Context, row config.Reservation, _ string, _ bool) (Outcome, error) {
	d.cleanings++
	return Outcome{Reservation: row.Name, Result: ResultFailed, Reason: "teardown failed"}, nil
}

// A second quarantine is logged, also if it has the reason of the first.
func TestEachQuarantineIsLogged(t *testing.T) {
	var log bytes.Buffer
	c := New(Options{Registry: &config.Registry{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "r1"}}
	logged := map[string]string{}
	for range 2 {
		r.Status.State, r.Status.DirtyInfo = lease.Dirty, &lease.DirtyInfo{Reason: "deployment d exists", ManualOnly: true}
		c.handleReservation(t.Context(), r, logged)
		c.handleReservation(t.Context(), r, logged)
		r.Status.State, r.Status.DirtyInfo = lease.Free, nil
		c.handleReservation(t.Context(), r, logged)
	}
	if n := strings.Count(log.String(), "blocked"); n != 2 {
		t.Errorf("logged %d times: %s", n, &log)
	}
}

// The backoff of failed cleanings ends with the dirty state that they failed in.
func TestNewDirtyStateIsCleanedWithoutBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dirty{}
		c := New(Options{Rotation: d, Registry: &config.Registry{Reservations: []config.Reservation{{Name: "r1"}}}})
		r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "r1"}}
		r.Status.State = lease.Dirty
		r.Status.DirtyInfo = &lease.DirtyInfo{Since: metav1.NowMicro(), Attempts: 9}
		sweep := func() {
			c.handleReservation(t.Context(), r, map[string]string{})
			c.workers.Wait()
		}
		sweep()
		sweep()
		if d.cleanings != 1 {
			t.Fatalf("%d cleanings at once", d.cleanings)
		}
		_ = c.opts.Clock.Until(t.Context(), time.Now().Add(time.Minute)) // less than the backoff after nine attempts
		r.Status.DirtyInfo = &lease.DirtyInfo{Since: metav1.NowMicro()}
		sweep()
		if d.cleanings != 2 {
			t.Errorf("a new dirty state waits for the backoff of the last one")
		}
		sweep()
		if d.cleanings != 2 {
			t.Errorf("%d cleanings without backoff", d.cleanings)
		}
	})
}

// poisoned is a store with a reservation that cannot be written, and its broker.
type poisoned struct {
	Store
	LeaseBroker
}

func (poisoned) ExpireOverdue(context.Context, ...string) error {
	return errors.New("expire the lease of bad: status is invalid")
}

func (poisoned) CheckClock() error { return nil }

func (poisoned) List(context.Context) ([]*store.Reservation, error) {
	r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "good"}}
	r.Status.State, r.Status.DirtyInfo = lease.Dirty, &lease.DirtyInfo{Since: metav1.NowMicro()}
	return []*store.Reservation{r}, nil
}

func (poisoned) ListManualHandOvers(context.Context) ([]*store.HandOver, error) { return nil, nil }

// A reservation whose lease cannot be ended is logged, once; the others are cleaned.
func TestOneReservationThatCannotBeWrittenDoesNotEndTheController(t *testing.T) {
	var log bytes.Buffer
	d := &dirty{}
	c := New(Options{
		Store: poisoned{}, Broker: poisoned{}, Rotation: d, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Registry: &config.Registry{Reservations: []config.Reservation{{Name: "good"}}},
	})
	logged := map[string]string{}
	for range 2 {
		if err := c.sweepOnce(t.Context(), func(err error) { t.Errorf("the controller ends: %v", err) }, logged); err != nil {
			t.Errorf("the controller ends: %v", err)
		}
		c.workers.Wait()
	}
	if d.cleanings == 0 || strings.Count(log.String(), "status is invalid") != 1 {
		t.Errorf("%d cleanings: %s", d.cleanings, &log)
	}
}
