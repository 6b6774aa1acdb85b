package ssh

import (
	"context"
	"net"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// agentTimeout limits the listing of keys before the first login.
const agentTimeout = 10 * time.Second

// openAgent connects to ssh-agent until end is called or ctx ends: each login has its own
// connection, since a signature may wait for a confirmation.
func openAgent(ctx context.Context, socket string) (_ agent.ExtendedAgent, end func(), err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, func() {}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return agent.NewClient(conn), func() { stop(); _ = conn.Close() }, nil
}

// agentHas reports whether ssh-agent has a key. An agent that does not answer has none.
func agentHas(ctx context.Context, socket string, public ssh.PublicKey) bool {
	if socket == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, agentTimeout)
	defer cancel()
	client, end, err := openAgent(ctx, socket)
	defer end()
	if err != nil {
		return false
	}
	held, err := client.List()
	return err == nil && slices.ContainsFunc(held, func(k *agent.Key) bool { return equal(k, public) })
}
