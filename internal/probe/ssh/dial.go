package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"

	"golang.org/x/crypto/ssh"
)

// dial connects to a host, through its jump hosts, and logs in.
func (p *Pool) dial(ctx context.Context, to *hop) (*ssh.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, p.connectTimeout)
	defer cancel()
	conn, err := p.connect(ctx, to)
	if err != nil {
		return nil, err
	}
	client, err := p.login(ctx, conn, to)
	if err != nil {
		return nil, errors.Join(err, ignoreClosed(conn.Close()))
	}
	return client, nil
}

// connect opens the connection that the handshake uses.
func (p *Pool) connect(ctx context.Context, to *hop) (net.Conn, error) {
	if to.via == nil {
		return (&net.Dialer{}).DialContext(ctx, to.network, to.address)
	}
	jump, err := p.jump(ctx, to.via)
	if err != nil {
		return nil, fmt.Errorf("jump host %s: %w", to.via.address, err)
	}
	conn, err := jump.DialContext(ctx, "tcp", to.address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s through jump host %s: %w", to.address, to.via.address, err)
	}
	return conn, nil
}

// jump returns the connection to a jump host, which all hosts behind it share.
func (p *Pool) jump(ctx context.Context, to *hop) (*ssh.Client, error) {
	p.mu.Lock()
	c := p.jumps[to]
	if c == nil {
		c = newConnection(to)
		c.closed = p.closed
		p.jumps[to] = c
	}
	p.mu.Unlock()
	if err := c.lock(ctx); err != nil {
		return nil, err
	}
	defer c.unlock()
	if client := c.current(); client != nil {
		return client, nil
	}
	client, err := p.dial(ctx, to)
	if err != nil {
		return nil, err
	}
	if !c.store(client) {
		return nil, errors.Join(errClosed, client.Close())
	}
	go func() {
		_ = client.Wait() // the connection broke or the pool was closed
		c.drop(client)
	}()
	return client, nil
}

// login does the handshake and logs in. The handshake has no context: closing the connection ends it,
// and is complete when login returns, since the caller's slot is then free for another connection.
func (p *Pool) login(ctx context.Context, conn net.Conn, to *hop) (*ssh.Client, error) {
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = conn.Close()
		close(closed)
	})
	var signers []ssh.Signer
	endAgent := func() {}
	defer func() { endAgent() }()
	config := ssh.ClientConfig{
		User: to.user, Timeout: p.connectTimeout,
		HostKeyCallback: to.known.check, HostKeyAlgorithms: to.known.algorithms(to.lookup),
		Auth: []ssh.AuthMethod{ssh.PublicKeysCallback(func() (_ []ssh.Signer, err error) {
			signers, endAgent, err = to.identity.signers(ctx)
			return signers, err
		})},
	}
	sc, channels, requests, err := ssh.NewClientConn(conn, to.lookup, &config)
	inTime := stop()
	if !inTime {
		<-closed
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("no SSH handshake within %s: %w", p.connectTimeout, ctx.Err())
	case err != nil && signers != nil:
		return nil, &LoginError{User: to.user, Offered: describe(signers), Err: err}
	case err != nil:
		return nil, to.known.explain(to.lookup, err)
	case !inTime:
		return nil, errors.Join(fmt.Errorf("handshake: %w", ctx.Err()), sc.Close())
	}
	return ssh.NewClient(sc, channels, requests), nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
