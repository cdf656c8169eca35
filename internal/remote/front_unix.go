// SPDX-License-Identifier: Apache-2.0

//go:build unix

package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// files of a worker's directory.
const (
	lockFile  = "lock" // locked as long as the keeper lives
	pidFile   = "pid"  // of the keeper
	logFile   = "log"  // the worker's output
	endFile   = "end"  // an End, when the worker has ended
	keepersIn = "gvw-workers-"
)

// front is one connection of a tether.
type front struct {
	order Order
	dir   string
	self  string
	env   []string
	out   *json.Encoder
}

// Front is the command of ssh. It reads an order from in, and reports to out until the worker has ended, or the connection.
// tmp is the directory of temporary files, self the path of this program, env the environment of the keeper.
func Front(ctx context.Context, in io.Reader, out io.Writer, tmp, self string, env []string) error {
	// An order has the secret, so it is no argument.
	lines := bufio.NewReader(in)
	text, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("no order: the launcher of a job sends it: %w", err)
	}
	f := front{out: json.NewEncoder(out), self: self, env: env}
	if err := json.Unmarshal(text, &f.order); err != nil {
		return fmt.Errorf("the order: %w", err)
	}
	if err := f.order.validate(); err != nil {
		return err
	}
	if err := f.begin(tmp); err != nil {
		return f.out.Encode(Report{Error: err.Error()})
	}
	words := make(chan string)
	go func() { // it ends with the connection, at the latest with the process
		defer close(words)
		for {
			word, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			select {
			case words <- word[:len(word)-1]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return f.follow(ctx, words)
}

// begin finds the keeper of this attempt, or starts it. Keepers of earlier attempts are ended: the launcher starts another
// attempt when the job has lost the one before.
func (f *front) begin(tmp string) error {
	base := filepath.Join(tmp, keepersIn+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Another user may have made the directory before.
	switch info, err := os.Lstat(base); {
	case err != nil:
		return err
	case !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ownedByUs(info):
		return fmt.Errorf("%s is not a directory of this user alone: remove it", base)
	}
	for attempt := 1; attempt < f.order.Attempt; attempt++ {
		old := filepath.Join(base, f.order.Run+"."+strconv.Itoa(attempt))
		if err := endKeeper(old); err != nil {
			return err
		}
	}
	f.dir = filepath.Join(base, f.order.Run+"."+strconv.Itoa(f.order.Attempt))
	if _, err := os.Stat(f.dir); err == nil {
		return nil // an earlier connection has started it
	}
	// The directory appears under its name when its lock is held: from then on somebody starts the keeper, or has died.
	made, err := os.MkdirTemp(base, ".new-")
	if err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(made, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return errors.Join(err, os.RemoveAll(made))
	}
	defer lock.Close() // the keeper has it, too
	if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		err = os.WriteFile(filepath.Join(made, logFile), nil, 0o600)
	}
	if err == nil {
		err = os.Rename(made, f.dir)
	}
	if err != nil {
		rerr := os.RemoveAll(made)
		if _, serr := os.Stat(f.dir); serr == nil {
			return rerr // another connection was first
		}
		return errors.Join(err, rerr)
	}
	if err := f.start(lock); err != nil {
		return errors.Join(err, os.RemoveAll(f.dir))
	}
	return nil
}

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// start starts the keeper, which inherits the lock.
func (f *front) start(lock *os.File) error {
	if info, err := os.Stat(f.order.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no directory %s here: start gvw run in one that all hosts have", f.order.Dir)
	}
	log, err := os.OpenFile(filepath.Join(f.dir, logFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	keeper := exec.Command(f.self, "remote", "keep", f.dir)
	keeper.Dir, keeper.Env = f.order.Dir, append(f.env[:len(f.env):len(f.env)], f.order.Env...)
	keeper.Stdout, keeper.Stderr, keeper.ExtraFiles = log, log, []*os.File{lock}
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // sshd's signals at the end of a connection do not reach it
	in, err := keeper.StdinPipe()
	if err != nil {
		return err
	}
	if err := keeper.Start(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(f.dir, pidFile), []byte(strconv.Itoa(keeper.Process.Pid)), 0o600); err != nil {
		return errors.Join(err, keeper.Process.Kill())
	}
	if err := errors.Join(json.NewEncoder(in).Encode(f.order), in.Close()); err != nil {
		return err
	}
	go func() { _ = keeper.Wait() }() // it outlives this process, or is reaped by it
	return nil
}

// follow reports until the worker or the connection has ended.
func (f *front) follow(ctx context.Context, words <-chan string) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var reported time.Time
	for {
		r, err := f.look()
		if err != nil {
			return err
		}
		if len(r.Log) > 0 || r.Ended != nil || time.Since(reported) >= reportEvery {
			reported = time.Now()
			if err := f.out.Encode(r); err != nil {
				return err
			}
		}
		if r.Ended != nil {
			return f.finish(ctx, words)
		}
		if len(r.Log) == maxLog {
			continue // there may be more
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case word, open := <-words:
			if !open {
				return nil // the connection is gone; the keeper stays
			}
			if word == wordEnd {
				if err := signalKeeper(f.dir, syscall.SIGTERM); err != nil {
					return err
				}
			}
		case <-ticker.C:
		}
	}
}

// finish removes the directory of a worker that has ended, when the tether has its report. Without an answer the directory stays: the
// tether asks again over another connection. A tether that is stopped, for example by Ctrl-Z, answers when it continues.
func (f *front) finish(ctx context.Context, words <-chan string) error {
	silent := time.NewTimer(answerWithin)
	defer silent.Stop()
	look := time.NewTicker(reportEvery)
	defer look.Stop()
	for {
		select {
		case word, open := <-words:
			switch {
			case !open:
				return nil
			case word == wordDone:
				return os.RemoveAll(f.dir)
			} // else an order to end, which has crossed the report
		case <-look.C:
			if _, err := os.Stat(f.dir); errors.Is(err, fs.ErrNotExist) {
				return nil // another connection has had the answer
			}
		case <-silent.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// look returns what the worker has written since the last call, and its end after the last of that.
func (f *front) look() (r Report, err error) {
	// The end is read before the output: all output then precedes it.
	end, err := ended(f.dir)
	if err != nil {
		return r, err
	}
	log, err := os.Open(filepath.Join(f.dir, logFile))
	if err != nil {
		return r, err
	}
	defer log.Close()
	b := make([]byte, maxLog)
	n, err := log.ReadAt(b, f.order.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return r, err
	}
	f.order.Offset += int64(n)
	r.Log = b[:n]
	if n < maxLog {
		r.Ended = end
	}
	return r, nil
}

// ended returns the end of the worker; nil: it runs.
func ended(dir string) (*End, error) {
	alive, err := keeperLives(dir)
	if err != nil {
		return nil, err
	}
	var end End
	b, err := os.ReadFile(filepath.Join(dir, endFile))
	switch {
	case errors.Is(err, fs.ErrNotExist) && alive:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return &End{Code: 128 + int(syscall.SIGKILL), Signal: int(syscall.SIGKILL)}, nil // with its worker
	case err != nil:
		return nil, err
	}
	return &end, json.Unmarshal(b, &end)
}

// keeperLives reports whether the keeper of a directory holds its lock.
func keeperLives(dir string) (bool, error) {
	lock, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return false, err
	}
	defer lock.Close() // which releases the lock
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK), nil
}

// signalKeeper sends a signal to the keeper of a directory, if it lives.
func signalKeeper(dir string, sig syscall.Signal) error {
	alive, err := keeperLives(dir)
	if err != nil || !alive {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, pidFile))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil || pid <= 1 {
		return fmt.Errorf("%s: got %q, want a process", filepath.Join(dir, pidFile), text)
	}
	if err := syscall.Kill(pid, sig); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// endKeeper ends the keeper of an earlier attempt with its worker, and removes the directory. It waits for the end for as
// long as a keeper gives its worker, and a little more.
func endKeeper(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := signalKeeper(dir, syscall.SIGTERM); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(lookEvery) {
		alive, err := keeperLives(dir)
		if err != nil {
			return err
		}
		if !alive {
			return os.RemoveAll(dir)
		}
		if time.Since(began) > keeperGrace+lookEvery*20 {
			return errors.Join(errors.New("an earlier attempt does not end"), signalKeeper(dir, syscall.SIGKILL))
		}
	}
}
