// alpha of one sample: what each position gets of each head's attention, from the chunks of a
// stream.
import {toNumber} from './format';
import type {AlphaChunk} from './types';

export class Alpha {
  readonly positions: number;
  private readonly values: Float32Array;  // [blocks, heads, positions]

  constructor(readonly blocks: number, readonly heads: number, positions: number) {
    this.positions = positions;
    this.values = new Float32Array(blocks * heads * positions).fill(NaN);
  }

  add(chunk: AlphaChunk): void {
    const first = ((chunk.block ?? 0) * this.heads + (chunk.firstHead ?? 0)) * this.positions;
    const values = (chunk.values ?? []).map(Number);
    if (toNumber(chunk.positions) === this.positions && first + values.length <= this.values.length)
      this.values.set(values, first);
  }

  at(block: number, head: number, position: number): number {
    return this.values[(block * this.heads + head) * this.positions + position] ?? NaN;
  }

  // Over heads.
  mean(block: number, position: number): number {
    let sum = 0;
    for (let head = 0; head < this.heads; ++head) sum += this.at(block, head, position);
    return sum / this.heads;
  }
}
