"""Importable, because programs import it; the collectives of chunk programs are in language.collectives."""
