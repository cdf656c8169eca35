// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// queued limits the messages that wait for a client that reads slowly.
const queued = 16

// client is a stream of events.
type client struct {
	out  chan []byte // closed to end the stream
	gone bool        // out is closed
}

// topic is the stream of one job. All its clients get the same messages.
type topic struct {
	clients map[*client]bool
	sent    cursor // what they have been sent
}

// hub distributes messages. The lock of its page guards it.
type hub struct {
	topics map[int]*topic // by the number of the job; 0: none
	n      int            // clients
	list   listCursor     // of the list of jobs, which all clients have been sent
	closed bool
}

func newHub() hub { return hub{topics: map[int]*topic{}} }

// send sends all clients what has changed.
func (h *hub) send(p *Page) {
	if h.n == 0 {
		return
	}
	list := h.list.append(nil, p, false)
	for n, t := range h.topics {
		msg := append([]byte(nil), list...)
		if j := p.history.Job(n); j != nil {
			msg = append(append(msg, `,"job":`...), t.sent.append(nil, j, p.history.Previous(j), false)...)
		}
		msg = append(msg, '}')
		for c := range t.clients {
			h.give(n, c, msg)
		}
	}
}

// give queues a message, and disconnects a client whose queue is full.
func (h *hub) give(n int, c *client, msg []byte) {
	select {
	case c.out <- msg:
	default:
		h.remove(n, c)
	}
}

// add adds a client of a job, with the whole history as its first message.
func (h *hub) add(p *Page, n int) (*client, error) {
	switch {
	case h.closed:
		return nil, errors.New("the server ends")
	case h.n >= p.cfg.MaxClients:
		return nil, errors.New("too many pages are open: close one")
	}
	c := &client{out: make(chan []byte, queued)}
	if h.n == 0 {
		h.list = listCursor{}
	}
	t := h.topics[n]
	if t == nil {
		t = &topic{clients: map[*client]bool{}}
		h.topics[n] = t
	}
	// The other clients have been sent everything up to the last snapshot. So after this message
	// the new one has the same state.
	whole := listCursor{}
	msg := whole.append(nil, p, true)
	if h.n == 0 {
		h.list = whole
	}
	if j := p.history.Job(n); j != nil {
		sent := cursor{}
		msg = append(append(msg, `,"job":`...), sent.append(nil, j, p.history.Previous(j), true)...)
		if len(t.clients) == 0 {
			t.sent = sent
		}
	}
	c.out <- append(msg, '}')
	t.clients[c] = true
	h.n++
	return c, nil
}

// remove ends a client's stream.
func (h *hub) remove(n int, c *client) {
	if c.gone {
		return
	}
	c.gone = true
	close(c.out)
	h.n--
	t := h.topics[n]
	if delete(t.clients, c); len(t.clients) == 0 {
		delete(h.topics, n)
	}
}

// close ends all streams.
func (h *hub) close() {
	h.closed = true
	for n, t := range h.topics {
		for c := range t.clients {
			h.remove(n, c)
		}
	}
}

// events answers with a stream of events.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("job"))
	if err != nil && r.FormValue("job") != "" {
		http.Error(w, "error: job is no number", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	c, err := p.hub.add(p, n)
	p.mu.Unlock()
	if err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "error: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer func() {
		p.mu.Lock()
		p.hub.remove(n, c)
		p.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	if err := rc.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) { // the stream has no end
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case msg, more := <-c.out:
			if !more || !p.write(w, rc, msg) {
				return
			}
		}
	}
}

// write writes a message, and reports whether the client has taken it in time.
func (p *Page) write(w http.ResponseWriter, rc *http.ResponseController, msg []byte) bool {
	if err := rc.SetWriteDeadline(time.Now().Add(p.cfg.WriteTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	for _, part := range [][]byte{[]byte("data: "), msg, []byte("\n\n")} {
		if _, err := w.Write(part); err != nil {
			return false
		}
	}
	return rc.Flush() == nil
}
