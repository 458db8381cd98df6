'use strict';

// What a consumer makes of the changes that it receives: tables in memory.
// Run as: node SCRIPT SLOT KEYS FILE. KEYS is a JSON object with the columns of
// each table's replica identity; FILE gets what was received, as JSON.

const fs = require('fs');

const [, , slot, keys, file] = process.argv;

class Tables {
  constructor() {
    this.keys = JSON.parse(keys);
    this.rows = {}; // by table, then by identity: what has that identity
    this.received = {};
    for (const table of Object.keys(this.keys))
      this.rows[table] = new Map();
  }

  identity(table, row) {
    return JSON.stringify(this.keys[table].map(column => {
      if (!(column in row))
        throw new Error(`${table}: no ${column} in ${JSON.stringify(row)}`);
      return row[column];
    }));
  }

  count(what) {
    this.received[what] = (this.received[what] || 0) + 1;
  }

  insert(table, row) {
    this.count('insert');
    this.put(table, row);
  }

  // a column that is not in the row is one that did not change
  update(table, old, row) {
    this.count('update');
    this.put(table, { ...this.take(table, old), ...row });
  }

  delete(table, old) {
    this.count('delete');
    this.take(table, old);
  }

  put(table, row) {
    const key = this.identity(table, row);
    const same = this.rows[table].get(key);
    if (same)
      same.push(row);
    else
      this.rows[table].set(key, [row]);
  }

  take(table, old) {
    const key = this.identity(table, old);
    const same = this.rows[table].get(key);
    if (!same)
      throw new Error(`${table}: no row ${key}`);
    if (same.length === 1)
      this.rows[table].delete(key);
    return same.pop();
  }

  // The last transaction of the workload fills this table.
  get complete() {
    return this.rows['shop.finished'].size > 0;
  }

  save() {
    const rows = {};
    for (const table of Object.keys(this.rows))
      rows[table] = [...this.rows[table].values()].flat();
    fs.writeFileSync(file, JSON.stringify({ rows, received: this.received }));
  }
}

const zip = (names, values) => Object.fromEntries(names.map((name, i) => [name, values[i]]));

module.exports = { Tables, slot, zip };
