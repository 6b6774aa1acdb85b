package slurmjob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// Server is a job of one node that has begun, and runs until it is removed: its program is a server.
type Server struct {
	// ID is that of the job.
	ID     string
	runner Runner
	job    Job
}

// ErrEnded is in the error of Wait for a job whose program or node has ended it.
var ErrEnded = errors.New("the job has ended")

// Start submits a job of one node and waits until it has begun. A job that has not is cancelled.
func (r Runner) Start(ctx context.Context, j Job) (*Server, error) {
	id, err := r.submit(ctx, j)
	if err != nil {
		return nil, r.cancelled(ctx, j, err)
	}
	w, err := r.wait(ctx, id, j, begun)
	if err == nil && w.problem != "" {
		err = errors.New(w.problem)
	}
	s := &Server{ID: id, runner: r, job: j}
	if err != nil {
		return nil, errors.Join(err, s.Remove(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// Wait waits for the end of the job and returns it: ErrEnded with the state and the exit code, or why the end says
// nothing of the program.
func (s *Server) Wait(ctx context.Context) error {
	w, err := s.runner.wait(ctx, s.ID, s.job, slurm.JobInfo.Ended)
	switch {
	case err != nil:
		return err
	case w.problem != "" && !w.timedOut:
		return errors.New(w.problem)
	}
	end := endOf(w.info)
	if Unrelated(w.info.State) {
		return errors.New(end)
	}
	if raw, err := s.output(ctx); err == nil {
		if p, err := parse(raw, s.ID, 1); err == nil && p.unstarted() != "" {
			return fmt.Errorf("%s; the container was not started: %s", end, p.unstarted())
		}
	}
	return fmt.Errorf("%w: %s", ErrEnded, end)
}

// Now is the job's state.
func (s *Server) Now(ctx context.Context) (slurm.JobInfo, error) {
	info, _, err := s.runner.state(ctx, s.ID)
	return info, err
}

// Log is the output until now: the lines of Slurm, then those of the job's task.
func (s *Server) Log(ctx context.Context) ([]byte, error) {
	raw, err := s.output(ctx)
	if err != nil {
		return nil, err
	}
	p, err := parse(raw, s.ID, 1)
	if err != nil {
		return raw, err
	}
	var log bytes.Buffer
	for _, line := range p.messages {
		log.WriteString(line + "\n")
	}
	log.Write(p.tasks[0].log.Bytes())
	return log.Bytes(), nil
}

func (s *Server) output(ctx context.Context) ([]byte, error) {
	out, err := s.onOutputHost(ctx, `cat "$0"`)
	if err != nil {
		return nil, fmt.Errorf("read the output of job %s: %w", s.ID, err)
	}
	return out.Stdout, nil
}

// removeWithin limits the wait for the end of a cancelled job: KillWait of Slurm, 30 s by default, and its epilog.
const removeWithin = 2 * time.Minute

// Remove cancels the job, waits for its end and deletes its output.
func (s *Server) Remove(ctx context.Context) error {
	if err := slurm.Cancel(ctx, s.runner.run, s.runner.name(s.job)); err != nil {
		return fmt.Errorf("cancel job %s: %w", s.ID, err)
	}
	limited, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	w, ended := s.runner.wait(limited, s.ID, s.job, slurm.JobInfo.Ended)
	if ended == nil && w.problem != "" {
		ended = errors.New(w.problem)
	}
	if w.info.BatchHost == "" {
		return ended // it never began, and has no output
	}
	if _, err := s.onOutputHost(ctx, `[ -e "$0" ] && rm -f "$0"`); err != nil {
		return errors.Join(ended, fmt.Errorf("delete the output of job %s: %w", s.ID, err))
	}
	return ended
}

// onOutputHost runs a script about the output, whose path is $0, on the login host if the directory is shared, and else
// on the node, over SSH. A file of another user, who may have guessed its name in /tmp, is not touched.
func (s *Server) onOutputHost(ctx context.Context, script string) (ssh.Output, error) {
	var errs []error
	for _, host := range []string{s.runner.Site.Slurm.Host(), s.job.Nodes[0]} {
		out, err := s.runner.Deps.Hosts.Run(ctx, host, "sh", "-c", ownFile+script, s.runner.output(s.job, s.ID))
		if err == nil && out.Exit == 0 {
			return out, nil
		}
		errs = append(errs, fmt.Errorf("on %s: %w", host, problemOf("sh", out, err)))
	}
	return ssh.Output{}, errors.Join(errs...)
}
