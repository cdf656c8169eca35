// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/background"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/httpserve"
	"github.com/gvw-project/gvw/internal/serve/engine"
	"github.com/gvw-project/gvw/internal/serve/web"
)

// Limits of HTTP connections. A client that needs longer is disconnected.
const (
	headerWithin = 10 * time.Second // to send the header of a request
	answerWithin = time.Minute      // to send a request and read the answer; web.Config.Limits has the limits of predictions
	idleWithin   = 2 * time.Minute  // between two requests
	drainWithin  = 5 * time.Second  // for requests under way after SIGTERM
	maxHeader    = 16 << 10         // bytes
	maxConns     = 16384            // further ones are closed
)

// loopbackHost is the default host of gvw serve.
const loopbackHost = "127.0.0.1"

// Serve runs gvw serve: predictions over HTTP.
func Serve(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	models, err := servedModels(s)
	if err != nil {
		return err
	}
	p.LogFormat = s.Get("log_format")
	return s.Dispatch(ctx, func(c *cli.Context) error { return New(p).serveHTTP(c, s, models) })
}

// servedModel is a model and its name.
type servedModel struct{ name, file string }

// servedModels returns the models of the command line, the first of which answers requests without a name.
func servedModels(s *cli.Settings) ([]servedModel, error) {
	var all []servedModel
	for _, file := range s.All("initial_regressor") {
		all = append(all, servedModel{strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), file})
	}
	for _, word := range slices.Concat(s.Words, s.Rest) {
		name, file, found := strings.Cut(word, "=")
		if !found || name == "" || file == "" {
			return nil, cli.Usagef("%q is not NAME=MODEL, like spam=spam.model", word)
		}
		all = append(all, servedModel{name, file})
	}
	learns := s.Has("learn")
	var errs []error
	if len(all) == 0 && !learns {
		errs = append(errs, cli.Usagef("gvw serve: no model: give -i MODEL or NAME=MODEL"))
	}
	if learns && len(all) > 1 {
		errs = append(errs, cli.Usagef("--learn: there are %d models: a server learns one", len(all)))
	}
	if learns && len(all) == 0 {
		all = []servedModel{{name: "model"}}
	}
	for _, name := range []string{"final_regressor", "checkpoint"} {
		if s.Has(name) && !learns {
			errs = append(errs, cli.Usagef("--%s would be ignored without --learn: nothing is learned", name))
		}
	}
	errs = append(errs, checkCheckpoint(s))
	if s.Has("tls_cert") != s.Has("tls_key") || s.Has("tls_ca") && !s.Has("tls_cert") {
		errs = append(errs, cli.Usagef("--tls_cert and --tls_key: give both, and --tls_ca only with them"))
	}
	if host := bindHost(s, loopbackHost); !httpserve.Loopback(host) && s.Get("token_file") == "" && s.Get("tls_ca") == "" {
		errs = append(errs, cli.Usagef("--bind %s is not on the loopback interface: set --token_file, or --tls_ca with --tls_cert and --tls_key", host))
	}
	return all, errors.Join(errs...)
}

// serveHTTP loads the models and serves until a signal ends it.
func (l *Learner) serveHTTP(c *cli.Context, s *cli.Settings, models []servedModel) (err error) {
	log := l.Logger(cli.LogLevel(c.Bool("quiet"), c.String("log_level")), true)
	fsys := files.Watched(c, l.files.System(c.String, c.Bool("quiet")), false, log)
	cfg := web.Config{Limits: engine.Limits{MaxLine: int(c.Uint64("max_line"))}, MaxBody: int64(c.Uint64("max_body")) << 20}
	if file := s.Get("token_file"); file != "" {
		_, token, err := auth.ReadSecretBytes(file)
		if err != nil {
			return fmt.Errorf("--token_file: %w", err)
		}
		cfg.Token = strings.TrimSpace(string(token))
	}
	var secure *tls.Config
	if s.Has("tls_cert") {
		if secure, err = auth.ReadHTTPS(s.Get("tls_cert"), s.Get("tls_key"), s.Get("tls_ca")); err != nil {
			return err
		}
	}
	cfg.Local = secure == nil && httpserve.Loopback(bindHost(s, loopbackHost)) // with TLS the certificate has the host
	ctx, cancel := context.WithCancel(c.Context)
	var watches sync.WaitGroup
	listens := false
	defer func() {
		cancel()
		watches.Wait()
		for _, m := range cfg.Models {
			err = errors.Join(err, endEngine(c.Context, m.Engine, listens))
		}
	}()
	l.AllowCleanup(saveWithin)
	for _, m := range models {
		learner, err := Config(c)
		if err != nil {
			return err
		}
		learner.Model.Initial, learner.TestOnly = m.file, !c.Bool("learn")
		learner.Data.MaxLine = 0 // the handler limits lines
		stamp := fileStamp(m.file)
		e, err := l.engine(c, s, learner, fsys, log)
		if err != nil {
			return fmt.Errorf("model %s: %w", m.name, err)
		}
		cfg.Models = append(cfg.Models, web.Model{Name: m.name, Engine: e})
		if learner.TestOnly {
			watches.Go(func() { watchModel(ctx, m, e, stamp, log) })
		}
	}
	handler, err := web.New(cfg)
	if err != nil {
		return err
	}
	listener, number, err := listen(s, loopbackHost, "8080")
	if err != nil {
		return err
	}
	if err := writeNumber(c.Context, s, "port_file", number); err != nil {
		return errors.Join(err, listener.Close())
	}
	if secure == nil && !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		log.Warn("the token and the examples cross the network unencrypted: --tls_cert and --tls_key encrypt them")
	}
	log.Info("server listens", "address", listener.Addr().String(), "models", len(cfg.Models), "tls", secure != nil)
	listens = true
	background.IgnoreBrokenPipes()
	return httpserve.Until(ctx, httpserve.Bound(listener, maxConns), &http.Server{
		Handler: handler, TLSConfig: secure, ReadHeaderTimeout: headerWithin, ReadTimeout: answerWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}, drainWithin)
}

// stamp identifies the contents of a file without reading them.
type stamp struct {
	size int64
	time time.Time
	info os.FileInfo
}

// fileStamp returns the stamp of a local file; zero if there is none.
func fileStamp(name string) stamp {
	fi, err := os.Stat(name)
	if err != nil {
		return stamp{}
	}
	return stamp{fi.Size(), fi.ModTime(), fi}
}

// same reports whether nothing has changed.
func (s stamp) same(other stamp) bool {
	return s.size == other.size && s.time.Equal(other.time) && (s.info == nil) == (other.info == nil) && (s.info == nil || os.SameFile(s.info, other.info))
}

// watchEvery is the time between two looks at the file of a model.
const watchEvery = time.Second

// watchModel reloads a model when its file has changed. A file that cannot be loaded leaves the model, and is
// tried again when it changes again.
func watchModel(ctx context.Context, m servedModel, e *engine.Engine, loaded stamp, log *slog.Logger) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := fileStamp(m.file)
		if now.info == nil || now.same(loaded) {
			continue
		}
		loaded = now
		if err := e.Reload(ctx); err != nil {
			log.Error("model not reloaded: serving the previous one", "model", m.name, "error", err)
			continue
		}
		log.Info("reloaded model", "model", m.name, "file", m.file)
	}
}
